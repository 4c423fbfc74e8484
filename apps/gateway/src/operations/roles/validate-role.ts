import { implement } from '@bunting/bus';
import { refusal, ValidateRole } from '@bunting/contracts';
import { badRequest } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const validateRoleEndpoint = ({ transaction }: GatewayContext) =>
  implement(ValidateRole, (request) =>
    transaction(request, async ({ roles }) => {
      const name = request.body.name.trim();
      if (name === '') throw badRequest('The name of a role must not be empty', '/body/name');
      if (await roles.isNameTaken(name, request.body.id))
        throw refusal('NameExistsError', `There already exists a role with the name ${name}`);
      return null;
    }),
  );
