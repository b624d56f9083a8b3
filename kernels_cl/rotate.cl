// Turns a picture about its middle: each pixel of `to` looks up where it comes from in `from`, between pixels as the
// sampler mixes them and beyond the edge as it says. `turn` is cosine and sine of the angle.
//
// Launch with a grid of two dimensions that covers `to`.
__kernel void rotate_picture(read_only image2d_t from, sampler_t sampler, write_only image2d_t to, float2 turn)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    const int2 size = get_image_dim(to);
    if (at.x >= size.x || at.y >= size.y)
        return;
    // Pixel 0 reaches from 0 to 1, so its middle is at a half.
    const float2 middle = convert_float2(size) * 0.5f;
    const float2 out = convert_float2(at) + 0.5f - middle;
    const float2 in = (float2)(turn.x * out.x + turn.y * out.y, turn.x * out.y - turn.y * out.x) + middle;
    write_imagef(to, at, read_imagef(from, sampler, in));
}
