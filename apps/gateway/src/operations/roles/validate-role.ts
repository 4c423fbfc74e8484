import { implement } from '@bunting/bus';
import { refusal, ValidateRole } from '@bunting/contracts';
import { badRequest } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const validateRoleEndpoint = ({ reads }: GatewayContext) =>
  implement(ValidateRole, async ({ body }) => {
    const name = body.name.trim();
    if (name === '') throw badRequest('The name of a role must not be empty', '/body/name');
    if (await reads.roles.isNameTaken(name, body.id))
      throw refusal('NameExistsError', `There already exists a role with the name ${name}`);
    return null;
  });
