import { gatewayService } from '@bunting/gateway';
import { host, openLog, type RunningHost } from '@bunting/runtime';

/** A gateway that is restarted at its address. */
export const startGatewayAt = async (port: number, settings: Readonly<Record<string, string>>) => {
  let running: RunningHost | undefined;
  const start = async (): Promise<void> => {
    running = await host([gatewayService], {
      environment: { ...settings, PORT: String(port), GATEWAY_HOST: '127.0.0.1' },
      log: openLog('error'),
    });
  };
  const url = `http://127.0.0.1:${port}`;
  await start();
  return {
    url,
    start,
    stop: async (): Promise<void> => running?.stop(),
  };
};
export type RestartableGateway = Awaited<ReturnType<typeof startGatewayAt>>;
