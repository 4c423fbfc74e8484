import { implement } from '@bunting/bus';
import { CheckPassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../domain/password-policy.ts';

export const checkPasswordEndpoint = () =>
  implement(CheckPassword, async ({ body }) => {
    requireStrongPassword(body.password);
    return null;
  });
