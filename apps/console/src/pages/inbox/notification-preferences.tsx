import { GetNotificationPreferences, SetNotificationPreference } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import layout from '../../components/layout/layout.module.css';
import { notificationKindTexts } from './notification-kinds.ts';

/** What the user is told, by kind. */
export function NotificationPreferences() {
  const preferences = useQuery(operationQuery(GetNotificationPreferences, {}));
  const set = useOperationMutation(SetNotificationPreference, 'notified');
  return (
    <section className={layout['section']} aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      <p className={layout['muted']}>What comes into your inbox. My flags are those that I have created or starred.</p>
      <QueryResult query={preferences}>
        {({ kinds }) => (
          <ul className={layout['denseStack']} aria-label="What comes into the inbox">
            {kinds.map(({ kind, inbox }) => (
              <li key={kind}>
                <Checkbox
                  isSelected={inbox}
                  onChange={(isOn) => set.mutate({ params: { kind }, body: { inbox: isOn } })}
                >
                  {notificationKindTexts[kind]}
                </Checkbox>
              </li>
            ))}
          </ul>
        )}
      </QueryResult>
    </section>
  );
}
