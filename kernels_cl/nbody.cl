// One step of `n` bodies that attract each other: new velocities by the pull of all, then new places by those.
//
// A body is (x, y, z, mass). Places go from one array to another, because every body has to see the old ones.
// `softening`, above 0, keeps the pull of close bodies finite, and that of a body on itself 0.
// A block loads BLOCK bodies at a time into local memory, and all of its work items use them. Launch in blocks of
// exactly BLOCK (the host defines it); the last may reach past the end.
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void nbody_step(__global const float4 *from, __global float4 *to, __global float4 *velocities, uint n, float dt,
                float softening)
{
    __local float4 tile[BLOCK];

    const uint item = get_local_id(0);
    const uint i = (uint)get_group_id(0) * BLOCK + item;
    const float4 own = i < n ? from[i] : (float4)(0.0f);

    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint start = 0; start < n; start += BLOCK) {
        // Past the end there are bodies without mass, which pull nobody.
        tile[item] = start + item < n ? from[start + item] : (float4)(0.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 16
        for (uint k = 0; k < BLOCK; k++) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float near = rsqrt(dx * dx + dy * dy + dz * dz + softening * softening);
            const float pull = other.w * near * near * near;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        const float4 velocity = velocities[i] + dt * (float4)(ax, ay, az, 0.0f);
        velocities[i] = velocity;
        to[i] = (float4)(own.xyz + dt * velocity.xyz, own.w);
    }
}
