import { type Finding, passedCheck, failedCheck, reasonOf } from './finding.ts';

const timeoutMs = 5_000;
/** Services need clocks that agree to within a second. The header `Date` has whole seconds, so the difference may seem one more. */
const maxClockDifferenceMs = 2_000;

/** Compares the clock of a service, from the `Date` of its response, with that of this machine. */
const checkClock = (address: string, response: Response): readonly Finding[] => {
  const date = Date.parse(response.headers.get('date') ?? '');
  const differenceMs = Number.isNaN(date) ? 0 : Math.abs(Date.now() - date);
  if (differenceMs <= maxClockDifferenceMs) return [];
  return [
    failedCheck(
      address,
      `its clock and that of this machine differ by ${(differenceMs / 1_000).toFixed(0)} s. Synchronise both with NTP: deadlines of requests need clocks that agree.`,
    ),
  ];
};

/** Checks the readiness and the clock of the service at a URL. */
export const checkService = async (address: string): Promise<readonly Finding[]> => {
  try {
    const response = await fetch(new URL('/health/ready', address), { signal: AbortSignal.timeout(timeoutMs) });
    const clock = checkClock(address, response);
    const body = (await response.json().catch(() => ({}))) as { reason?: string; unavailable?: readonly string[] };
    const { reason = 'no reason given', unavailable = [] } = body;
    if (response.ok && unavailable.length > 0) {
      const state = `serves SDKs from memory, and answers 503 to administrators: unavailable are ${unavailable.join(' and ')}.`;
      return [failedCheck(address, state), ...clock];
    }
    if (response.ok) return [passedCheck(address, 'ready'), ...clock];
    return [failedCheck(address, `is not ready (${response.status}): ${reason}`), ...clock];
  } catch (error) {
    return [failedCheck(address, `does not answer (${reasonOf(error)}). Start it, or correct the address.`)];
  }
};
