import { invalidProperty, Refusal } from '@bunting/contracts';

/**
 * 400 for a username or an e-mail address that another account has. It is a class of its own, because SCIM responds with another status,
 * 409.
 */
export class AccountExistsRefusal extends Refusal {
  constructor(field: 'username' | 'email') {
    const { kind, message, details } = invalidProperty('User already exists', `/body/${field}`);
    super(kind, message, { details });
  }
}
