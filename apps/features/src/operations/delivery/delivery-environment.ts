import type { Caller } from '@bunting/contracts';
import { boundEnvironment } from '../../domain/usage/application-token.ts';
import { deliveryEnvironmentNotFound } from '../../domain/usage/delivery-query.ts';
import type { FindApplicationEnvironment } from '../../persistence/usage/application-environments.ts';

/**
 * The environment whose features an application receives. It costs a statement only for a token that is bound to none.
 * @throws Refusal `ValidationError` for a named environment that does not exist.
 */
export const deliveryEnvironment = async (
  findApplicationEnvironment: FindApplicationEnvironment,
  caller: Caller,
  named: string | undefined,
): Promise<string> => {
  const environment = boundEnvironment(caller) ?? (await findApplicationEnvironment(caller, named));
  if (environment === undefined) throw deliveryEnvironmentNotFound(named ?? 'default');
  return environment;
};
