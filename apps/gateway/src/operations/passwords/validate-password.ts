import { implement } from '@bunting/bus';
import { ValidatePassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../domain/password-policy.ts';

export const validatePasswordEndpoint = () =>
  implement(ValidatePassword, async ({ body }) => {
    requireStrongPassword(body.password);
    return null;
  });
