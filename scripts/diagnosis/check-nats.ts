import { type NatsAccess, natsBus } from '@bunting/bus';
import { consumersOf } from '@bunting/contracts';
import { type Finding, passedCheck, failedCheck, reasonOf } from './finding.ts';

/** The maximum size of what a message has in addition to the body of an import. */
const envelopeBytes = 1024 ** 2;
const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

/** Checks NATS, as a user of a service: its version, JetStream, and its limits. */
export const checkNats = async ({
  url,
  user = 'doctor',
  maxImportBytes,
  access,
}: {
  readonly url: string;
  /** the user of NATS; its rights include the inbox that is named after it */
  readonly user: string | undefined;
  readonly access: NatsAccess;
  readonly maxImportBytes: number;
}): Promise<readonly Finding[]> => {
  try {
    const neededPayloadBytes = maxImportBytes + envelopeBytes;
    const bus = await natsBus({ url, name: user, access });
    try {
      await bus.prepareServer([]);
      const { version, maxPayloadBytes } = bus.server;
      const { streams, storedBytes, maxBytes, neededBytes } = await bus.storage();
      const producers = Object.keys(consumersOf);
      return [
        passedCheck('NATS', `version ${version}, with JetStream`),
        maxPayloadBytes < neededPayloadBytes
          ? failedCheck(
              'NATS',
              `max_payload is ${maxPayloadBytes} bytes: imports of more are refused with 413. Set max_payload: ${Math.ceil(neededPayloadBytes / 1024 ** 2 / 16) * 16}MB.`,
            )
          : passedCheck('NATS', `messages of up to ${maxPayloadBytes} bytes`),
        streams < producers.length
          ? failedCheck(
              'NATS',
              `has ${streams} of the ${producers.length} streams of ${producers.join(', ')}. Start these services, which create them; their logs say why one cannot be created.`,
            )
          : passedCheck('NATS', `${streams} streams, which store ${mebibytes(storedBytes)}`),
        ...(maxBytes !== undefined && maxBytes < neededBytes
          ? [
              failedCheck(
                'NATS',
                `the account may store ${mebibytes(maxBytes)}, and full streams need ${mebibytes(neededBytes)}. Raise max_file of JetStream for the account.`,
              ),
            ]
          : []),
      ];
    } finally {
      await bus.close();
    }
  } catch (error) {
    return [failedCheck('NATS', reasonOf(error))];
  }
};
