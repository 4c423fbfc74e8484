import { environmentNotFound } from '../../domain/refusals.ts';
import type { TransactionContext, UnitOfWork } from '../../persistence/unit-of-work.ts';

interface SetEnvironmentEnabledRequest extends TransactionContext {
  readonly params: { readonly name: string };
}

/** New projects are connected to enabled environments only. Existing features do not change, so no event is emitted. */
export const setEnvironmentEnabled = (
  transaction: UnitOfWork,
  request: SetEnvironmentEnabledRequest,
  enabled: boolean,
): Promise<null> =>
  transaction(request, async ({ environments }) => {
    const { params } = request;
    const [environment] = await environments.findForUpdate([params.name]);
    if (environment === undefined) throw environmentNotFound(params.name);
    if (environment.enabled !== enabled) await environments.save([{ ...environment, enabled }]);
    return null;
  });
