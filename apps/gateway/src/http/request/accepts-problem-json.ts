/**
 * The preference for a media type by a range of an `Accept` header: its quality, and how precisely the range names the type (0 to 2, -1:
 * not).
 */
interface Preference {
  readonly quality: number;
  readonly precision: number;
}

const qualityOf = (parameters: readonly string[]): number => {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2);
    if (name.trim().toLowerCase() !== 'q') continue;
    const quality = Number(value.trim() === '' ? Number.NaN : value);
    return quality >= 0 && quality <= 1 ? quality : 0;
  }
  return 1;
};

const preferenceFor = (type: string, ranges: readonly string[]): Preference => {
  const [family] = type.split('/', 1);
  let best: Preference = { quality: 0, precision: -1 };
  for (const item of ranges) {
    const [name = '', ...parameters] = item.split(';');
    const range = name.trim().toLowerCase();
    const precision = range === type ? 2 : range === `${family}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (precision > best.precision) best = { quality: qualityOf(parameters), precision };
  }
  return best;
};

/** Maximum characters of an `Accept` header that is parsed; a longer one is ignored. */
const maxAcceptLength = 4_096;

/**
 * True when a client wants errors as `application/problem+json`: it names that type with at least the quality of plain JSON. A client that
 * accepts any type gets plain JSON.
 */
export const acceptsProblemJson = (accept: string | undefined): boolean => {
  if (accept === undefined || accept.length > maxAcceptLength || !accept.toLowerCase().includes('problem+json'))
    return false;
  const ranges = accept.split(',');
  const problem = preferenceFor('application/problem+json', ranges);
  const plain = preferenceFor('application/json', ranges);
  if (problem.precision < 2 || problem.quality === 0) return false;
  return plain.precision < 2 || problem.quality >= plain.quality;
};
