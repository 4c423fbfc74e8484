import type { FastifyInstance } from 'fastify';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** The error that says which setting to change when an address is not available. */
const explainListenFailure = (error: unknown, host: string, port: number): unknown => {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} is in use by another program. Stop it, or choose another port with PORT.`, {
        cause: error,
      });
    case 'EACCES':
      return new Error(`Port ${port} is not for this user to listen on. Choose one above 1023 with PORT.`, {
        cause: error,
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`This machine has no address ${host} to listen on. Correct GATEWAY_HOST.`, { cause: error });
    default:
      return error;
  }
};

/** Checks before the start of anything else that the address is available. @throws Error that names the setting to change */
export const requireAvailableAddress = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
  server.close();
  await once(server, 'close');
};

/** Listens and returns the URL. @throws Error that says which setting to change when the address is not available */
export const listen = async (app: FastifyInstance, host: string, port: number): Promise<string> => {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw explainListenFailure(error, host, port);
  }
};
