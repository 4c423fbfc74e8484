import { run } from '@bunting/runtime';
import { gatewayService } from './service.ts';

/** Prints the generated admin token and the link of the first administrator once, to standard output only: it must not reach a log. */
const gateway = {
  ...gatewayService,
  start: async (context: Parameters<typeof gatewayService.start>[0]) => {
    const running = await gatewayService.start(context);
    if (running.firstAdminToken !== undefined) {
      process.stdout.write(`The first admin token, shown this once: ${running.firstAdminToken}\n`);
    }
    if (running.firstAdminLink !== undefined) {
      process.stdout.write(
        `The first administrator is created, once and within an hour, at: ${running.firstAdminLink}\n`,
      );
    }
    return running;
  },
};

void run([gateway]);
