import { switchEnvironment } from './environment.ts';
import { environmentNotFound } from '../refusals.ts';
import type { TransactionContext, UnitOfWork } from '../unit-of-work/unit-of-work.ts';

interface SetEnvironmentEnabledRequest extends TransactionContext {
  readonly params: { readonly name: string };
}

/** Switches an environment on or off. */
export const setEnvironmentEnabled = (
  transaction: UnitOfWork,
  request: SetEnvironmentEnabledRequest,
  enabled: boolean,
): Promise<null> =>
  transaction(request, async ({ environments }) => {
    const { params } = request;
    const [environment] = await environments.findForUpdate([params.name]);
    if (environment === undefined) throw environmentNotFound(params.name);
    const after = switchEnvironment(environment, enabled);
    if (after !== environment) await environments.save([after], []);
    return null;
  });
