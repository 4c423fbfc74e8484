import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

/** The messages in a stream of a NATS server, in their order. */
export const readNatsStreamMessages = async (
  url: string,
  stream: string,
): Promise<{ subject: string; id: string; payload: string }[]> => {
  const connection = await connect({ servers: url });
  try {
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info(stream);
    const messages: { subject: string; id: string; payload: string }[] = [];
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
      const message = await streams.getMessage(stream, { seq });
      if (message === null) continue;
      messages.push({ subject: message.subject, id: message.header.get('Nats-Msg-Id'), payload: message.string() });
    }
    return messages;
  } finally {
    await connection.close();
  }
};
