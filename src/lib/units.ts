/** A day, in seconds. */
export const daySeconds = 86_400;

/** 1 MB, in bytes: what people are told of disks and files. */
export const megabyte = 1_000_000;

/** 1 MiB, in bytes: what limits of memory, bodies and buffers are made of. */
export const mebibyte = 1024 * 1024;

/** 1 GiB, in bytes. */
export const gibibyte = 1024 * mebibyte;
