import { implement } from '@bunting/bus';
import { ValidateUserPassword } from '@bunting/contracts';
import { requireStrongPassword } from '../../access/passwords/password-policy.ts';

export const validateUserPasswordEndpoint = () =>
  implement(ValidateUserPassword, async ({ body }) => {
    requireStrongPassword(body.password);
    return null;
  });
