import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends one request to a NATS server by its wire protocol, and resolves with the response. */
export const natsRequest = async (port: number, subject: string, payload = ''): Promise<string> => {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error));
  const answered = (async () => {
    socket.write(
      `CONNECT {"verbose":false}\r\nSUB answer 1\r\nPUB ${subject} answer ${Buffer.byteLength(payload)}\r\n${payload}\r\n`,
    );
    let received = '';
    for await (const text of socket as AsyncIterable<string>) {
      received += text;
      // Of all that was received, this would copy megabytes for each piece of a long message.
      if (!text.endsWith('\n')) continue;
      const answer = /\r\nMSG [^\r]*\r\n(.*)\r\n/.exec(received);
      if (answer !== null) return answer[1] ?? '';
      const refusal = /-ERR (.*)\r\n/.exec(received);
      if (refusal !== null) throw new Error(refusal[1]);
    }
    throw new Error('The server closed the connection.');
  })();
  return Promise.race([answered, failed]).finally(() => socket.destroy());
};
