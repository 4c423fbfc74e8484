const browsers = [
  ['Edge', /\bEdg\/(\d+)/],
  ['Firefox', /\bFirefox\/(\d+)/],
  ['Chrome', /\b(?:Headless)?Chrome\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).*\bSafari\//],
] as const;

const systems = [
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** The names of the browser and operating system of a `User-Agent` header; the header itself for an unknown browser. */
export function browserName(userAgent: string): string {
  for (const [name, pattern] of browsers) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = systems.find(([, systemPattern]) => systemPattern.test(userAgent))?.[0];
    return `${name} ${version}${system === undefined ? '' : `, ${system}`}`;
  }
  return userAgent;
}
