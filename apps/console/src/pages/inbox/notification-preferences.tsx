import { GetNotificationPreferences, type MailMode, mailModes, SetNotificationPreference } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Table } from '../../components/content/table.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import { Select } from '../../components/forms/selects.tsx';
import layout from '../../components/layout/layout.module.css';
import { notificationKindTexts } from './notification-kinds.ts';

const mailTexts: Readonly<Record<MailMode, string>> = { 'at-once': 'At once', daily: 'Once a day', never: 'Never' };
const mailOptions = mailModes.map((mode) => ({ id: mode, label: mailTexts[mode] }));

/** Where mail goes, or why none comes. */
function mailText(address: string | null, isSetUp: boolean, dailyHour: number): string {
  if (!isSetUp) return 'Nothing is mailed: no mail server is set up here.';
  if (address === null) return 'Nothing is mailed to you: your account has no email address.';
  return `Mail goes to ${address}, that of the day at ${dailyHour}:00 UTC.`;
}

/** What the user is told, by kind. */
export function NotificationPreferences() {
  const preferences = useQuery(operationQuery(GetNotificationPreferences, {}));
  const set = useOperationMutation(SetNotificationPreference, 'notified');
  return (
    <section className={layout['section']} aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      <QueryResult query={preferences}>
        {({ kinds, mail: { isSetUp, address, dailyHour } }) => (
          <>
            <p className={layout['muted']}>
              What comes into your inbox. My flags are those that I have created or starred.{' '}
              {mailText(address, isSetUp, dailyHour)}
            </p>
            <Table
              label="What you are told"
              rows={kinds}
              rowKey={({ kind }) => kind}
              columns={[
                {
                  title: 'In the inbox',
                  cell: ({ kind, inbox }) => (
                    <Checkbox
                      isSelected={inbox}
                      onChange={(isOn) => set.mutate({ params: { kind }, body: { inbox: isOn } })}
                    >
                      {notificationKindTexts[kind]}
                    </Checkbox>
                  ),
                },
                ...(isSetUp && address !== null
                  ? [
                      {
                        title: 'By mail',
                        cell: ({ kind, mail }: (typeof kinds)[number]) => (
                          <Select
                            label={`By mail: ${notificationKindTexts[kind]}`}
                            isLabelHidden
                            options={mailOptions}
                            value={mail}
                            onChange={(mode) => set.mutate({ params: { kind }, body: { mail: mode as MailMode } })}
                          />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          </>
        )}
      </QueryResult>
    </section>
  );
}
