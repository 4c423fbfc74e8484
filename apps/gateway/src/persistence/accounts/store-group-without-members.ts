import { refusal } from '@bunting/contracts';
import { type Tx, violatedConstraint } from '@bunting/database';
import type { ProvisionedGroup } from '../../domain/scim/provisioned-groups.ts';
import type { UnusedGroupAttributes } from '../../domain/scim/unused-provider-attributes.ts';
import { GroupEntity } from '../../unit-of-work/entities.ts';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';

/** The properties of a group that are stored, without its members. */
export interface GroupContent {
  readonly name: string;
  readonly description: string | null;
  readonly mappingsSSO: readonly string[];
  readonly rootRole: number | null;
  /** stays as it is when left out */
  readonly provisioned?: UnusedGroupAttributes | null;
}

/** Creates a group without members, or updates the one with the id and keeps its members. @throws Refusal `NameExistsError` */
export const storeGroupWithoutMembers = async (
  { em }: Pick<Tx, 'em'>,
  guard: Pick<LastAdministratorGuard, 'markLossOfRights'>,
  { name, description, mappingsSSO, rootRole, provisioned }: GroupContent,
  { createdBy, id }: { readonly createdBy: string; readonly id: number | undefined },
): Promise<ProvisionedGroup> => {
  const content = {
    name,
    description,
    mappingsSSO: [...mappingsSSO],
    rootRole,
    ...(provisioned === undefined ? {} : { provisioned }),
  };
  const existing = id === undefined ? undefined : await em.findOneOrFail(GroupEntity, { id });
  if (existing !== undefined && existing.rootRole !== null && existing.rootRole !== rootRole) guard.markLossOfRights();
  try {
    const group =
      existing === undefined ? em.create(GroupEntity, { ...content, createdBy }) : em.assign(existing, content);
    await em.flush();
    return group;
  } catch (error) {
    if (violatedConstraint(error) !== 'user_group_by_name') throw error;
    throw refusal('NameExistsError', `Group name already exists: ${name}`);
  }
};
