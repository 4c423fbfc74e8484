import { implement } from '@bunting/bus';
import { CheckPasswordStrength } from '@bunting/contracts';
import { requireStrongPassword } from '../../access/passwords/password-policy.ts';

export const checkPasswordStrengthEndpoint = () =>
  implement(CheckPasswordStrength, async ({ body }) => {
    requireStrongPassword(body.password);
    return null;
  });
