import { implement, onBehalfOf } from '@bunting/bus';
import { CloneEnvironment, CopyEnvironmentPermissions } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { call } from '../../calls.ts';
import {
  clonedEnvironment,
  environmentView,
  projectsOfClone,
  requireProjectsFound,
} from '../../domain/environments/environment.ts';
import { copySettingsToEnvironment } from '../../domain/environments/copy-settings-to-environment.ts';
import { countEnabled } from '../../domain/features/feature-in-environment.ts';
import { projectEnvironmentAdded } from '../../domain/project-environments/project-environment.ts';
import { environmentNotFound } from '../../domain/refusals.ts';
import { endAccessOfEarlierEnvironment } from './end-access-of-earlier-environment.ts';
import type { FeaturesContext } from '../context.ts';

/**
 * Clones an environment in one transaction. The gateway copies the permissions after the commit; if it does not reply, the caller
 * can repeat the request with the same `Idempotency-Key`.
 */
export const cloneEnvironmentEndpoint = ({ transaction, bus }: FeaturesContext) =>
  implement(CloneEnvironment, (request) =>
    transaction.commitThenReply(
      request,
      async ({ environments, features }) => {
        const { params, body } = request;
        const existing = await environments.lockAndCount();
        const [source] = await environments.findForUpdate([params.name]);
        if (source === undefined) throw environmentNotFound(params.name);
        const { environment: clone, events } = clonedEnvironment(source, body, existing);
        await environments.add(clone, events);
        await endAccessOfEarlierEnvironment(bus, clone.name, request);

        const requested = projectsOfClone(body);
        const from = source.name;
        const to = clone.name;
        const projects = await environments.connectProjects(from, to, requested, (connected) =>
          connected.map((project) => projectEnvironmentAdded(project, to)),
        );
        requireProjectsFound(requested, projects);
        const featuresOfClone = await features.findAllOfInstanceForUpdate(await environments.featureNames([to]));
        const decisions = featuresOfClone.map((feature) =>
          copySettingsToEnvironment(feature, { from, to }, randomUUID),
        );
        await features.save(
          decisions.map(({ feature }) => feature),
          decisions.flatMap((decision) => decision.events),
        );
        // The states of the other features list one environment more.
        await features.emitStates(
          decisions.filter((decision) => decision.events.length === 0).map(({ feature }) => feature.name),
        );
        const enabledToggleCount = countEnabled(
          decisions.map(({ feature }) => feature),
          to,
        );
        return { ...environmentView(clone), projectCount: projects.length, enabledToggleCount };
      },
      async (clone) => {
        const { params, body } = request;
        if (body.clonePermissions !== false) {
          const copy = { from: params.name, to: clone.name };
          await call(bus, CopyEnvironmentPermissions, { body: copy }, onBehalfOf(request));
        }
        return clone;
      },
    ),
  );
