import type { BulkMetricsBody, MetricsBody, RegisterApplicationBody } from '@bunting/contracts';

const maxNameLength = 255;
function isName(name: string): boolean {
  return name !== '' && name.length <= maxNameLength;
}

type Toggles = MetricsBody['bucket']['toggles'];

/** Adds the counts of an evaluation to those of the same feature. */
function addCounts(
  toggles: Toggles,
  { featureName, yes = 0, no = 0, variants = {} }: BulkMetricsBody['metrics'][number],
): void {
  const before = Object.hasOwn(toggles, featureName) ? toggles[featureName] : undefined;
  const counts = new Map(Object.entries(before?.variants ?? {}));
  for (const [name, count] of Object.entries(variants)) counts.set(name, (counts.get(name) ?? 0) + count);
  toggles[featureName] = {
    yes: (before?.yes ?? 0) + yes,
    no: (before?.no ?? 0) + no,
    variants: Object.fromEntries(counts),
  };
}

/** The report of an edge behind this one as the reports of its applications: usage that arrives either way is passed on in one way. */
export function bulkMetricsAsReports({ applications, metrics }: BulkMetricsBody): {
  readonly registrations: readonly RegisterApplicationBody[];
  readonly metrics: readonly MetricsBody[];
} {
  const reports = new Map<string, MetricsBody>();
  for (const one of metrics) {
    const { appName, environment, timestamp } = one;
    if (!isName(appName) || one.featureName === '__proto__') continue;
    const key = JSON.stringify([appName, environment, timestamp]);
    const report = reports.get(key) ?? {
      appName,
      environment,
      bucket: { start: timestamp, stop: timestamp, toggles: {} },
    };
    const { sdkVersion = report.sdkVersion } = one;
    reports.set(key, sdkVersion === undefined ? report : { ...report, sdkVersion });
    addCounts(report.bucket.toggles, one);
  }
  const registrations = applications
    .filter(({ appName }) => isName(appName))
    .map(({ strategies = [], started = Date.now(), interval = 0, ...application }) => ({
      ...application,
      strategies,
      started,
      interval,
    }));
  return { registrations, metrics: [...reports.values()] };
}
