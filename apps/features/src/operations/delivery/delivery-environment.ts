import { boundEnvironment, type Caller, noSuchDeliveryEnvironment } from '@bunting/contracts';
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
  if (environment === undefined) throw noSuchDeliveryEnvironment(named ?? 'default');
  return environment;
};
