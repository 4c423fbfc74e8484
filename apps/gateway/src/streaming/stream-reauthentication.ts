import { Refusal } from '@bunting/contracts';
import { endStream, type StreamConnection, type StreamCredential } from '../delivery/streams/stream-connection.ts';

interface StreamToken {
  readonly credential: StreamCredential;
  readonly connections: Set<StreamConnection>;
  /** the caller at the last check, as JSON */
  caller: string | undefined;
}

/** Reauthenticates the tokens of open streams. One check of a token serves all of its streams. */
export const streamReauthentication = () => {
  const tokens = new Map<string, StreamToken>();

  const check = async (token: StreamToken): Promise<void> => {
    try {
      const principal = await token.credential.authenticate();
      const caller = JSON.stringify(principal.caller);
      if (caller === token.caller) return;
      token.caller = caller;
      for (const connection of token.connections)
        if (!connection.options.mayContinue(principal)) endStream(connection, 'token');
    } catch (error) {
      // While tokens cannot be looked up, streams stay open.
      if (!(error instanceof Refusal) || error.kind !== 'AuthenticationRequired') return;
      for (const connection of token.connections) endStream(connection, 'token');
    }
  };
  let checking: Promise<unknown> | undefined;

  return {
    add: (connection: StreamConnection): void => {
      const { credential } = connection.options;
      const token = tokens.get(credential.key) ?? { credential, connections: new Set(), caller: undefined };
      tokens.set(credential.key, token);
      token.connections.add(connection);
      // Rights that have changed since the stream was authorised are found by the next check.
      token.caller = undefined;
    },
    remove: (connection: StreamConnection): void => {
      const { key } = connection.options.credential;
      const token = tokens.get(key);
      token?.connections.delete(connection);
      if (token?.connections.size === 0) tokens.delete(key);
    },
    /** Reauthenticates every token, and ends the streams of those that are not valid any more or have lost the right to them. */
    check: (): void => {
      checking ??= Promise.all([...tokens.values()].map(check)).finally(() => void (checking = undefined));
    },
  };
};
