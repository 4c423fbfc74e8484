import { type Bus, call, type CallContext } from '@bunting/bus';
import { SetProtection } from '@bunting/contracts';
import type { Agenda } from '../persistence/agenda.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';

/**
 * Tells the service that refuses direct edits what it does not know yet of protected environments. It heeds versions, so
 * it does no harm that several replicas do this at once, or one of them twice.
 */
export type TellProtection = (context: CallContext) => Promise<void>;

export const tellingProtection =
  (bus: Bus, agenda: Agenda, work: UnitOfWork): TellProtection =>
  async (context) => {
    for (const { version, project, environment, isProtected } of await agenda.untold()) {
      await call(bus, SetProtection, { body: { version, project, environment, isProtected } }, context);
      await work(context.traceparent, ({ schedules }) => schedules.told(version));
    }
  };
