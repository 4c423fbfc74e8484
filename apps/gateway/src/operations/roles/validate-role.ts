import { implement } from '@bunting/bus';
import { ValidateRole } from '@bunting/contracts';
import { roleNameTaken } from '../../access/refusals.ts';
import { parseRoleName } from '../../access/roles/role.ts';
import type { GatewayContext } from '../../access/context.ts';

/** Validates only the name of the role: it must not be empty, nor that of another role. */
export const validateRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateRole, async ({ body }) => {
    const name = parseRoleName(body);
    if (await reads.roles.isNameTaken(name, body.id)) throw roleNameTaken(name);
    return null;
  });
