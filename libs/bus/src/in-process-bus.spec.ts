import { describeBus } from '../test/bus-behaviour.ts';
import { inProcessBus } from './in-process-bus.ts';

describeBus('within one process', async () => {
  const bus = inProcessBus();
  return { open: async () => bus, stop: async () => undefined };
});
