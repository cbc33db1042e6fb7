import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { type PostgresServer, startPostgres } from "@turnkeep/servers";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "../src/index.ts";
import { withClient } from "./support.ts";

/** ASN.1 in its distinguished encoding. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const text = (value: string): Buffer => Buffer.from(value, "latin1");

/** A certificate for this machine that has signed itself, valid until 2049, and its key. */
function selfSigned(): { readonly certificate: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const commonName = sequence(der(0x06, Buffer.from("550403", "hex")), der(0x0c, text("turnkeep test")));
  const name = sequence(der(0x31, commonName));
  const validity = sequence(der(0x17, text("200101000000Z")), der(0x17, text("491231235959Z")));
  const addresses = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const subjectAltName = sequence(der(0x06, Buffer.from("551d11", "hex")), der(0x04, addresses));
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ...[ecdsaWithSha256, name, validity, name, publicKey],
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = sign("sha256", unsigned, createPrivateKey(privateKey));
  const signed = sequence(unsigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = signed.toString("base64").replace(/.{64}/g, "$&\n").trim();
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey,
  };
}

const { certificate: ca, key } = selfSigned();
let server: PostgresServer;
let url: string;

// One of its own, since it gets another configuration. It writes the files itself: they are its user's.
beforeAll(async () => {
  server = await startPostgres({ sources: ["docker", "machine", "cache"] });
  url = server.url.replace("localhost", "127.0.0.1");
  await withClient(server.url, async (client) => {
    for (const [file, content] of [
      ["server.crt", ca],
      ["server.key", key],
    ] as const) {
      await client.query(
        `copy (select unnest(string_to_array('${content.trim()}', E'\\n'))) to program 'umask 077; cat > ${file}'`,
      );
    }
    await client.query("alter system set ssl = on");
    await client.query("select pg_reload_conf()");
  });
  // It takes them up in its own time.
  const encrypted = { connectionString: url, ssl: { ca } };
  for (let connected = false; !connected; ) {
    const client = new pg.Client(encrypted);
    client.on("error", () => {});
    connected = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end();
  }
});
afterAll(() => server.stop());

test.each([
  "",
  "?sslmode=require",
  "?sslmode=verify-full&application_name=of%20ours",
  "?application_name=of%20ours&sslmode=no-verify&ssl=true",
  "?ssl=1",
])("an address that ends in %j does not take the place of `ssl`", async (ending) => {
  const store = postgresStore({ config: { connectionString: url + ending, ssl: { ca } } });
  await store.migrate();
  const seen = await withClient(server.url, (client) =>
    client.query(
      "select ssl, application_name as name from pg_stat_ssl join pg_stat_activity using (pid) where pid <> pg_backend_pid() and client_port is not null",
    ),
  );
  expect(seen.rows).toEqual([{ ssl: true, name: ending.includes("of%20ours") ? "of ours" : "" }]);
  await store.close();
});

test.each(["", "?sslmode=require"])(
  "without the certificate of its authority, the server (%j) is refused, and the error says what to give",
  async (ending) => {
    const store = postgresStore({ config: { connectionString: url + ending, ssl: {} } });
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_REFUSED",
      message: expect.stringContaining("ssl: { ca }"),
      cause: { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    });
    await store.close();
  },
);

test("an address alone means what pg takes it for", async () => {
  const trusting = postgresStore({ url: `${url}?sslmode=no-verify` });
  await trusting.migrate();
  await trusting.close();
  const checking = postgresStore({ url: `${url}?sslmode=verify-full` });
  await expect(checking.migrate()).rejects.toMatchObject({ code: "STORE_REFUSED" });
  await checking.close();
  const given = postgresStore({ config: { connectionString: `${url}?sslmode=verify-full`, ssl: null } });
  await expect(given.migrate()).rejects.toMatchObject({ code: "STORE_REFUSED" });
  await given.close();
  const plain = postgresStore({ config: { connectionString: `${url}?sslmode=disable`, ssl: { ca } } });
  await plain.migrate();
  await plain.close();
});
