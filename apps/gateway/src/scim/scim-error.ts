import { Refusal } from '@bunting/contracts';
import { AccountExistsRefusal } from '../domain/accounts/account-exists-refusal.ts';
import { InvalidFilter } from '../domain/scim/parse-scim-filter.ts';
import { httpStatusOf } from '../http/errors.ts';

/** The values of `scimType`, which specifies an error with the status 400 or 409 (RFC 7644, 3.12). */
export type ScimType =
  'invalidFilter' | 'invalidPath' | 'noTarget' | 'invalidSyntax' | 'invalidValue' | 'tooMany' | 'uniqueness';

/** An expected error of a SCIM request. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  constructor(status: number, detail: string, scimType?: ScimType) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const invalidValue = (detail: string): ScimError => new ScimError(400, detail, 'invalidValue');
export const notFoundResource = (type: string, id: string): ScimError =>
  new ScimError(404, `There is no ${type} with the id ${id.slice(0, 100)}.`);

/** The error of SCIM for a thrown error; undefined for a defect. */
export const scimErrorOf = (error: unknown): ScimError | undefined => {
  if (error instanceof ScimError) return error;
  if (error instanceof InvalidFilter) return new ScimError(400, error.message, 'invalidFilter');
  if (error instanceof AccountExistsRefusal) {
    const detail = 'Another account has this userName or e-mail address. Send others, or delete that account.';
    return new ScimError(409, detail, 'uniqueness');
  }
  if (!(error instanceof Refusal)) return undefined;
  // A fault of the body as a whole: it is no JSON, or nested too deeply.
  const isOfBody = error.details.some(({ path }) => path === '/body');
  const scimType = (
    { NameExistsError: 'uniqueness', ValidationError: isOfBody ? 'invalidSyntax' : 'invalidValue' } as const
  )[error.kind as string];
  return new ScimError(httpStatusOf[error.kind], error.message, scimType);
};

/** The body of an error response. */
export const scimErrorBody = ({ status, scimType, message }: ScimError): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
  status: String(status),
  ...(scimType === undefined ? {} : { scimType }),
  detail: message,
});
