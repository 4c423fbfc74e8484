import type { CallContext } from '@bunting/bus';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Apply } from '../operations/state/apply-request.ts';

interface Options {
  readonly transaction: UnitOfWork;
  readonly apply: Apply;
}

/** Continues an attempt to apply a request that was interrupted, unless the attempt has ended in the meantime. */
export const resumeInterruptedRequest =
  ({ transaction, apply }: Options) =>
  async ({ id }: { readonly id: number }, context: CallContext): Promise<void> => {
    const request = await transaction(context, ({ requests }) => requests.getOfAnyProjectForUpdate(id));
    if (request !== undefined && request.applying !== null) await apply(request, context);
  };
