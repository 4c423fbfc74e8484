import type { ImpactResult } from '@bunting/contracts';
import { strategyMessages } from '../../../messages/strategy.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../strategy.module.css';

type Impact = ImpactResult['features'][number];

const percent = (share: number): string => `${share} %`;

interface ImpactGroupsProps extends Pick<Impact, 'groups'> {
  readonly label: string;
}

/** The groups of users for whom a change has an effect, with the shares that gain the flag, lose it, or get another variant. */
export const ImpactGroups = ({ groups, label }: ImpactGroupsProps) => {
  const affectedGroups = groups.filter(({ gains, loses, changesVariant }) => gains + loses + changesVariant > 0);
  if (affectedGroups.length === 0) return <p>{strategyMessages.noImpact}</p>;
  return (
    <div role="region" aria-label={label} tabIndex={0}>
      <table className={layout['cells']}>
        <thead>
          <tr>
            <th scope="col">{strategyMessages.users}</th>
            <th scope="col">{strategyMessages.beforeAfter}</th>
            <th scope="col">{strategyMessages.effect}</th>
          </tr>
        </thead>
        <tbody>
          {affectedGroups.map(({ context, before, after, gains, loses, changesVariant }) => (
            <tr key={JSON.stringify(context)}>
              <td>
                {Object.keys(context).length === 0
                  ? strategyMessages.otherUsers(groups.length > 1)
                  : strategyMessages.usersWith(context)}
              </td>
              <td className={styles['number']}>
                {percent(before)} → {percent(after)}
              </td>
              <td className={styles['number']}>
                {gains > 0 && <div className={styles['gains']}>{strategyMessages.gains(gains)}</div>}
                {loses > 0 && <div className={styles['loses']}>{strategyMessages.loses(loses)}</div>}
                {changesVariant > 0 && <div>{strategyMessages.changesVariant(changesVariant)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
