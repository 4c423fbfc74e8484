import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats, type TestNats } from '@bunting/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, nkeys } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from '../index.ts';
import { natsBus, type NatsOptions } from './nats-bus.ts';

describe('a connection to NATS', () => {
  const password = 'p@ss:wo/rd%#,1234';
  let folder = '';
  let server: TestNats | undefined;
  let bus: Bus | undefined;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'bunting-nats-access-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => {
    await bus?.close();
    await server?.stop();
    bus = server = undefined;
  });

  const file = (name: string, text = ''): string => {
    const credentialsFile = path.join(folder, name);
    if (text !== '') writeFileSync(credentialsFile, text, { mode: 0o600 });
    return credentialsFile;
  };

  const withAuthorization = async (config: string): Promise<string> => {
    server = await startNats({ jetstream: false, config });
    return `127.0.0.1:${server.port}`;
  };

  const opens = async (url: string, access: NatsOptions['access'] = {}): Promise<void> => {
    bus = await natsBus({ url, name: 'spec', access, connectTimeoutMs: 5_000 });
    bus.ready();
  };

  const messageOf = async (opening: Promise<void>): Promise<string> => {
    const error = await opening.then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    return error?.message ?? 'it opened';
  };

  /** A JWT in the format of NATS, signed with an nkey. */
  const jwtOf = (signer: ReturnType<typeof nkeys.createUser>, subject: string, name: string, nats: object): string => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { jti: name, iat: 1_700_000_000, iss: signer.getPublicKey(), sub: subject, name, nats };
    const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(claims)}`;
    return `${signed}.${Buffer.from(signer.sign(Buffer.from(signed))).toString('base64url')}`;
  };

  describe('a connection to a NATS server', () => {
    const user = `authorization { user: "bunting@here", password: ${JSON.stringify(password)} }`;

    it('opens with a user and a password', async () => {
      const address = await withAuthorization(user);
      await opens(`nats://${address}`, { user: 'bunting@here', password });
    });

    it('opens with the percent-encoded user and password of its address', async () => {
      const address = await withAuthorization(user);
      await opens(`nats://bunting%40here:${encodeURIComponent(password)}@${address}`);
    });

    it('opens with a token from a setting or from the address', async () => {
      const address = await withAuthorization('authorization { token: "t0ken/with=signs" }');
      await opens(`nats://${address}`, { token: 't0ken/with=signs' });
      await bus?.close();
      await opens(`nats://${encodeURIComponent('t0ken/with=signs')}@${address}`);
    });

    it('opens with the seed of an nkey', async () => {
      const key = nkeys.createUser();
      const address = await withAuthorization(`authorization { users: [{ nkey: ${key.getPublicKey()} }] }`);
      const nkeyFile = file('user.nk', `${Buffer.from(key.getSeed()).toString()}\n`);
      await opens(`nats://${address}`, { nkeyFile });
    });

    it('opens with a credentials file', async () => {
      const [operator, account, system, key] = [
        nkeys.createOperator(),
        nkeys.createAccount(),
        nkeys.createAccount(),
        nkeys.createUser(),
      ];
      const unlimited = {
        subs: -1,
        data: -1,
        payload: -1,
        imports: -1,
        exports: -1,
        wildcards: true,
        conn: -1,
        leaf: -1,
      };
      const accountJwt = (of: typeof account, name: string) =>
        jwtOf(operator, of.getPublicKey(), name, { type: 'account', version: 2, limits: unlimited });
      const operatorJwt = jwtOf(operator, operator.getPublicKey(), 'operator', { type: 'operator', version: 2 });
      const address = await withAuthorization(
        [
          `operator: ${operatorJwt}`,
          `system_account: ${system.getPublicKey()}`,
          'resolver: MEMORY',
          `resolver_preload: { ${account.getPublicKey()}: ${accountJwt(account, 'a')}, ${system.getPublicKey()}: ${accountJwt(system, 's')} }`,
        ].join('\n'),
      );
      const userJwt = jwtOf(account, key.getPublicKey(), 'user', {
        type: 'user',
        version: 2,
        subs: -1,
        data: -1,
        payload: -1,
      });
      const seed = Buffer.from(key.getSeed()).toString();
      const credentialsFile = file(
        'user.creds',
        `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
      );
      await opens(`nats://${address}`, { credentialsFile });
    });

    it('fails with one sentence when a file cannot be read, and names the setting', async () => {
      const address = await withAuthorization(user);
      for (const [option, setting] of [
        ['nkeyFile', 'BUS_NKEY_FILE'],
        ['credentialsFile', 'BUS_CREDENTIALS_FILE'],
        ['tlsCaFile', 'BUS_TLS_CA_FILE'],
      ] as const)
        expect(await messageOf(opens(`nats://${address}`, { [option]: file('missing') }))).toBe(
          `The file that ${setting} names cannot be read (ENOENT).`,
        );
    });

    it('that is refused names the server and shows no credentials', async () => {
      const address = await withAuthorization(user);
      expect(await messageOf(opens(`nats://someone:${encodeURIComponent('s3cret-of-mine')}@${address}`))).toBe(
        `No NATS server answers at nats://${address} (Authorization Violation). Correct the credentials in BUS_URL or in the other BUS_ settings.`,
      );
      expect(await messageOf(opens(`nats://${address}`, { token: 's3cret-of-mine' }))).not.toContain('s3cret');
      for (const url of [
        `nats://u:s3cret%zz@${address}`,
        `nats://u:s3#cret@${address}`,
        `nats://u:s3cret/x@${address}`,
      ])
        expect(await messageOf(opens(url))).toMatch(/^BUS_URL is not valid: (?!.*s3)/);
      expect(await messageOf(opens(`nats://u:s3cret1@${address},nats://u:s3cret2@${address}`))).toBe(
        'BUS_URL names servers with different credentials: one is used for all of them.',
      );
    });
  });

  describe('a connection to a NATS server with TLS', () => {
    const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const newKey = ['-newkey', 'rsa:2048', '-nodes'];

    const makeAuthority = (name: string): void =>
      void openssl(
        'req',
        '-x509',
        ...newKey,
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        `${name}.key`,
        '-out',
        `${name}.pem`,
      );
    const makeCertificate = (name: string): void => {
      openssl('req', ...newKey, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
      const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'extensions'];
      openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`);
    };
    const tls = (verify: boolean): string =>
      `tls { cert_file: "${file('server.pem')}", key_file: "${file('server.key')}", ca_file: "${file('ca.pem')}", verify: ${verify} }`;

    /** Starts a server with TLS, and returns its address with a host name: the client does not accept the certificate for an IP address. */
    const withTls = async (verify: boolean): Promise<string> => {
      await withAuthorization(tls(verify));
      return `localhost:${server?.port}`;
    };

    beforeAll(() => {
      file('extensions', 'subjectAltName=DNS:localhost\n');
      makeAuthority('ca');
      makeAuthority('another');
      makeCertificate('server');
      makeCertificate('client');
    });

    it('opens only when the certificate of the server is signed by a trusted authority', async () => {
      const address = await withTls(false);
      await opens(`tls://${address}`, { tlsCaFile: file('ca.pem') });
      await bus?.close();
      for (const access of [{}, { tlsCaFile: file('another.pem') }])
        expect(await messageOf(opens(`tls://${address}`, access))).toMatch(/^No NATS server answers at tls:/);
    });

    it('presents its certificate to a server that verifies its clients', async () => {
      const address = await withTls(true);
      const [tlsCaFile, tlsCertificateFile, tlsKeyFile] = [file('ca.pem'), file('client.pem'), file('client.key')];
      await opens(`tls://${address}`, { tlsCaFile, tlsCertificateFile, tlsKeyFile });
      await bus?.close();
      expect(await messageOf(opens(`tls://${address}`, { tlsCaFile }))).toMatch(/^No NATS server answers/);
    });

    it('does not open without TLS when TLS is required', async () => {
      await withAuthorization('');
      const address = `localhost:${server?.port}`;
      for (const [url, access] of [
        [`tls://${address}`, {}],
        [`nats://${address}`, { tlsCaFile: file('ca.pem') }],
      ] as const)
        expect(await messageOf(opens(url, access))).toMatch(/does not support 'tls'/);
    });
  });
});

describe('the check of the NATS server', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of cleanUp.splice(0).reverse()) await stop();
  });

  const started = async (options: Parameters<typeof startNats>[0]): Promise<TestNats> => {
    const server = await startNats(options);
    cleanUp.push(() => server.stop());
    return server;
  };
  const check = async (url: string, producers: readonly string[] = ['features']): Promise<void> => {
    const bus = await natsBus({ url, name: 'test' });
    cleanUp.push(() => bus.close());
    await bus.prepareServer(producers);
  };

  it('accepts a server with JetStream, and one that has the streams already', async () => {
    const server = await started({});
    await check(server.url);
    await check(server.url, ['features', 'gateway']);
  });

  it('accepts a stream whose limits an operator has changed, and leaves them as they are', async () => {
    const server = await started({});
    await check(server.url);
    const operator = await connect({ servers: server.url });
    cleanUp.push(() => operator.close());
    const { streams } = await jetstreamManager(operator);
    await streams.update('bunting-features', { max_bytes: 512 * 1024 * 1024 });
    const warnings: string[] = [];
    const bus = await natsBus({ url: server.url, name: 'test', warn: (message) => void warnings.push(message) });
    cleanUp.push(() => bus.close());
    await bus.prepareServer(['features']);
    expect(warnings).toEqual([]);
    expect((await streams.info('bunting-features')).config.max_bytes).toBe(512 * 1024 * 1024);
  });

  it('refuses a server without JetStream and says which lines its configuration lacks', async () => {
    const server = await started({ jetstream: false });
    await expect(check(server.url)).rejects.toThrow(
      /^The NATS server at 127\.0\.0\.1:\d+ has no JetStream for this user \(.*\)\. Add jetstream \{ store_dir/,
    );
  });

  it('refuses a server whose JetStream has too little storage for a stream', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'bunting-small-'));
    cleanUp.push(async () => rmSync(folder, { recursive: true, force: true }));
    const server = await started({
      jetstream: false,
      config: 'jetstream { store_dir: $STORE, max_file_store: 64MB, max_memory_store: 16MB }',
      environment: { STORE: JSON.stringify(folder) },
    });
    await expect(check(server.url)).rejects.toThrow(
      /cannot store the stream bunting-features of 256 MiB \(.*\)\. Raise max_file_store/,
    );
  });

  it('refuses a server that carries only small messages and names the setting', async () => {
    const server = await started({ config: 'max_payload: 512KB' });
    await expect(check(server.url)).rejects.toThrow(
      /carries messages of at most 524288 bytes; Bunting needs 1048576\. Set max_payload: 16MB/,
    );
  });

  it('refuses a server of an old version', async () => {
    // Old servers cannot be installed from packages. The check depends only on the information that a server sends to a new connection.
    const info = {
      server_id: 'old',
      version: '2.2.6',
      max_payload: 1024 * 1024,
      headers: true,
      jetstream: true,
      proto: 1,
    };
    const server = createServer((socket) => {
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
      socket.on('data', (data) => {
        if (data.includes('PING')) socket.write('PONG\r\n');
      });
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(async () => void server.close());
    const { port } = server.address() as AddressInfo;
    await expect(check(`nats://127.0.0.1:${port}`)).rejects.toThrow(
      /is version 2\.2\.6; Bunting needs 2\.9\.0 or newer\. Upgrade it\./,
    );
  });
});
