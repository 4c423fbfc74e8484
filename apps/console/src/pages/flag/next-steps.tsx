import type { Feature } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { useMayEdit } from '../../changes/edit-protection.tsx';
import { buttonClass } from '../../components/buttons/button.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { ConnectSdkButton } from '../connect/connect-sdk-button.tsx';
import styles from './flag.module.css';

const newForMs = 7 * 24 * 3_600_000;

interface NextStepsProps {
  readonly feature: Feature;
  readonly project: string;
}

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: React.ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li data-done={isDone || undefined}>
      <span className={styles['stepTitle']}>
        {isDone && <Icon name="check" />}
        {title}
        {isDone && <span className="visually-hidden">: done</span>}
      </span>
      {children}
    </li>
  );
}

/** What to do with a new flag, until it is on somewhere and an application has asked for it. */
export function NextSteps({ feature: { name, createdAt, archived, environments = [] }, project }: NextStepsProps) {
  const [openedAt] = useState(serverNow);
  const mayEdit = useMayEdit(project);
  const isOn = environments.some(({ enabled }) => enabled);
  const isSeen = environments.some(({ lastSeenAt }) => lastSeenAt != null);
  const isNew = createdAt != null && openedAt - new Date(createdAt).getTime() < newForMs;
  if (archived === true || !isNew || (isOn && isSeen) || environments.length === 0) return null;
  const firstOf = (type: string) => environments.find((one) => one.type === type);
  const targets = [firstOf('development') ?? environments[0], firstOf('production')]
    .filter((one, index, all) => one !== undefined && all.indexOf(one) === index)
    .map((one) => one?.name ?? '')
    .filter((environment) => mayEdit('CREATE_FEATURE_STRATEGY', environment));
  return (
    <section className={styles['nextSteps']} aria-labelledby="next-steps">
      <h2 id="next-steps">Next steps</h2>
      <ol>
        {(isOn || targets.length > 0) && (
          <Step title="Roll out" isDone={isOn}>
            <span className={styles['badges']}>
              {(isOn ? [] : targets).map((environment) => (
                <Link
                  key={environment}
                  to="/projects/$project/features/$feature/environments/$environment/strategies/$strategy"
                  params={{ project, feature: name, environment, strategy: 'new' }}
                  className={buttonClass({ size: 'small' })}
                >
                  Choose who gets it in {environment}
                </Link>
              ))}
            </span>
          </Step>
        )}
        <Step title="Connect" isDone={isSeen}>
          <ConnectSdkButton project={project} flag={name} size="small" />
        </Step>
        <Step title="Try" isDone={false}>
          <Link to="/playground" search={{ flag: name, projects: project }} className={buttonClass({ size: 'small' })}>
            <Icon name="playground" />
            See who gets it, and why
          </Link>
        </Step>
      </ol>
    </section>
  );
}
