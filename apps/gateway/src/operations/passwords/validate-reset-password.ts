import { implement } from '@bunting/bus';
import { ValidateResetPassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../domain/password-policy.ts';

export const validateResetPasswordEndpoint = () =>
  implement(ValidateResetPassword, async ({ body }) => {
    requireStrongPassword(body.password);
    return null;
  });
