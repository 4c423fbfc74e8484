import { Link } from '@tanstack/react-router';
import { useMaySomewhere, usePermissionCheck } from '../../api/permissions.ts';
import { buttonClass } from '../../components/buttons/button.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { ConnectSdkButton } from '../connect/connect-sdk-button.tsx';
import { CreateFlagButton } from '../flags/create-flag-button.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './home.module.css';

interface StepProps {
  readonly title: string;
  readonly isDone?: boolean;
  readonly text: string;
  readonly children: React.ReactNode;
}

function Step({ title, isDone = false, text, children }: StepProps) {
  return (
    <li className={styles['step']} data-done={isDone || undefined}>
      <h2>
        {isDone && <Icon name="check" />}
        {title}
        {isDone && <span className="visually-hidden">(done)</span>}
      </h2>
      <p>{text}</p>
      <div>{children}</div>
    </li>
  );
}

interface FirstStepsProps {
  /** undefined for the whole installation */
  readonly project?: string | undefined;
  readonly hasFlag: boolean;
  readonly hasApplication: boolean;
}

/** The way into a new installation or project: create a flag, connect an application, bring people in. */
export function FirstSteps({ project, hasFlag, hasApplication }: FirstStepsProps) {
  const hasPermission = usePermissionCheck();
  const maySomewhere = useMaySomewhere();
  const mayCreate =
    project === undefined ? maySomewhere(['CREATE_FEATURE']) : hasPermission('CREATE_FEATURE', { project });
  return (
    <ol className={styles['steps']}>
      <Step
        title="Create a flag"
        isDone={hasFlag}
        text="It turns a part of your software on or off without a new release, and is off until you turn it on."
      >
        {mayCreate ? (
          <span className={layout['actions']}>
            <CreateFlagButton project={project} isSecondary={hasFlag} />
            {!hasFlag && (
              <Link
                to="/admin/$section"
                params={{ section: 'transfer' }}
                search={project === undefined ? {} : { project }}
                className={buttonClass()}
              >
                Import from Unleash
              </Link>
            )}
          </span>
        ) : (
          <p className={styles['detail']}>A member of {project === undefined ? 'a' : 'the'} project can create one.</p>
        )}
      </Step>
      <Step
        title="Connect an application"
        isDone={hasApplication}
        text="A token and ten lines of your language: the first signal is shown as it comes."
      >
        <ConnectSdkButton project={project} isPrimary={hasFlag && !hasApplication} />
      </Step>
      {project !== undefined && hasPermission('PROJECT_USER_ACCESS_WRITE', { project }) && (
        <Step
          title="Give access"
          text="Members create and change flags, and owners settle the rest: people and whole groups."
        >
          <Link to="/projects/$project/$tab" params={{ project, tab: 'access' }} className={buttonClass()}>
            <Icon name="user" />
            Choose people
          </Link>
        </Step>
      )}
      {project === undefined && hasPermission('ADMIN') && (
        <Step title="Invite people" text="With their roles, or by a link with which they create accounts themselves.">
          <Link to="/admin/$section" params={{ section: 'users' }} className={buttonClass()}>
            <Icon name="user" />
            Invite people
          </Link>
        </Step>
      )}
    </ol>
  );
}
