import type { SelectOption } from '../../../components/forms/fields.tsx';

interface Role {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** The choices of a select for roles. */
export const roleOptions = (roles: readonly Role[]): SelectOption[] =>
  roles.map(({ id, name, description }) => ({ id: String(id), label: name, description }));
