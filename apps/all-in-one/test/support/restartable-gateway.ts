import { gatewayService } from '@bunting/gateway';
import { host, openLog, type RunningHost } from '@bunting/runtime';

/** Starts a gateway that can be restarted at the same port. */
export const startGatewayAt = async (port: number, settings: Readonly<Record<string, string>>) => {
  let running: RunningHost | undefined;
  /** @param more additional settings, until the next restart */
  const start = async (more: Readonly<Record<string, string>> = {}): Promise<void> => {
    running = await host([gatewayService], {
      environment: { ...settings, ...more, PORT: String(port), GATEWAY_HOST: '127.0.0.1' },
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

/** Restarts one gateway after the other: `away` runs while one is stopped, `back` once it runs again. */
export const restartInTurn = async (
  gateways: readonly RestartableGateway[],
  { away, back }: { away(nth: number): Promise<void>; back(): Promise<void> },
): Promise<void> => {
  for (const [nth, gateway] of gateways.entries()) {
    await gateway.stop();
    await away(nth);
    await gateway.start();
    await back();
  }
};
