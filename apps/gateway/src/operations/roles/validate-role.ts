import { implement } from '@bunting/bus';
import { refusal, ValidateRole } from '@bunting/contracts';
import { wrong } from '../../domain/refusals.ts';
import type { GatewayContext } from '../context.ts';

export const validateRoleEndpoint = ({ work }: GatewayContext) =>
  implement(ValidateRole, (request) =>
    work(request, async ({ roles }) => {
      const name = request.body.name.trim();
      if (name === '') throw wrong('The name of a role must not be empty', '/body/name');
      if (await roles.isTaken(name, request.body.id))
        throw refusal('NameExistsError', `There already exists a role with the name ${name}`);
      return null;
    }),
  );
