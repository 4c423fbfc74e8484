import type { ImpactResult } from '@bunting/contracts';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

type Impact = ImpactResult['features'][number];

function percent(share: number): string {
  return `${share}\u00a0%`;
}

interface ImpactGroupsProps extends Pick<Impact, 'groups'> {
  readonly label: string;
  /** the environment, where the flag is off in it and the page does not say so otherwise */
  readonly offIn?: string | undefined;
}

function isAffected({ gains, loses, changesVariant }: Impact['groups'][number]): boolean {
  return gains + loses + changesVariant > 0;
}

/** Says of an impact that is not complete why that is. */
export function Incompleteness({ isComplete }: Pick<Impact, 'isComplete'>) {
  if (isComplete) return null;
  return <p className={layout['small']}>A strategy that only the application can evaluate counts as off.</p>;
}

/** The effect of a change on a flag that depends on a changed one; nothing where it certainly has none. */
export function DependentImpact({ name, dependsOn = [], groups, isComplete }: Omit<Impact, 'examples'>) {
  if (isComplete && !groups.some(isAffected)) return null;
  return (
    <div className={layout['denseStack']}>
      <h3>{name}</h3>
      <p className={layout['small']}>It depends on {dependsOn.join(', ')}.</p>
      <ImpactGroups groups={groups} label={name} />
      <Incompleteness isComplete={isComplete} />
    </div>
  );
}

const maxNamedGroups = 3;

function contextInWords(context: Impact['groups'][number]['context']): string {
  return Object.entries(context)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}

/** The users of a group; those of the group without values are all whom no other group has. */
function usersOf({ context }: Impact['groups'][number], groups: Impact['groups']): string {
  if (Object.keys(context).length > 0) return contextInWords(context);
  const others = groups.filter((group) => Object.keys(group.context).length > 0);
  if (others.length === 0) return 'All users';
  if (others.some(isAffected) || others.length > maxNamedGroups) return 'All other users';
  return `All users except ${others.map((group) => contextInWords(group.context)).join('; ')}`;
}

/** The groups of users for whom a change has an effect, with the shares that gain the flag, lose it, or get another variant. */
export function ImpactGroups({ groups, label, offIn }: ImpactGroupsProps) {
  const affectedGroups = groups.filter(isAffected);
  if (affectedGroups.length === 0)
    return <p>Nothing changes for any user{offIn === undefined ? '' : `: the flag is off in ${offIn}`}.</p>;
  return (
    <div role="region" aria-label={label} tabIndex={0}>
      <table className={`${layout['cells']} ${styles['impact']}`}>
        <thead>
          <tr>
            <th scope="col">Users</th>
            <th scope="col">On for</th>
            <th scope="col">Effect</th>
          </tr>
        </thead>
        <tbody>
          {affectedGroups.map((group) => {
            const { context, before, after, gains, loses, changesVariant } = group;
            return (
              <tr key={JSON.stringify(context)}>
                <td>{usersOf(group, groups)}</td>
                <td>
                  {before} → {percent(after)}
                </td>
                <td>
                  {gains > 0 && <div className={styles['gains']}>{percent(gains)} gain it</div>}
                  {loses > 0 && <div className={styles['loses']}>{percent(loses)} lose it</div>}
                  {changesVariant > 0 && <div>{percent(changesVariant)} get another variant</div>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
