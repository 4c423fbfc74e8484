import { run } from '@bunting/runtime';
import { gatewayService } from './service.ts';

/** Shows the first admin token: once, to whoever started the process, and in no log. */
const gateway = {
  ...gatewayService,
  start: async (surroundings: Parameters<typeof gatewayService.start>[0]) => {
    const running = await gatewayService.start(surroundings);
    if (running.firstAdminToken !== undefined) {
      process.stdout.write(`The first admin token, shown this once: ${running.firstAdminToken}\n`);
    }
    return running;
  },
};

void run([gateway]);
