import {
  type FeatureEnvironment,
  type FeatureStrategy,
  GetFeature,
  ListEnvironmentsOfProject,
  type SearchResultFeature,
  strategySentence,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useSegmentNames } from '../../api/queries-and-mutations.ts';
import { changeRequestConfigQuery, protectedEnvironmentsOf } from '../../changes/edit-protection.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { ProjectName } from '../../components/content/project-name.tsx';
import layout from '../../components/layout/layout.module.css';
import { formatCount } from '../../text/format-number.ts';

/** A press on a switch of the list that waits for an answer. */
interface AskedSwitch {
  readonly flag: Pick<SearchResultFeature, 'name' | 'project'>;
  readonly environment: string;
  readonly enabled: boolean;
}

/** What applications have asked for in the last hour, as a sentence. */
function UsageSentence({ yes, no }: Pick<FeatureEnvironment, 'yes' | 'no'>) {
  const asked = (yes ?? 0) + (no ?? 0);
  if (asked === 0) return <p>No application has asked for it there in the last hour.</p>;
  const share = Math.round(((yes ?? 0) / asked) * 100);
  return (
    <p>
      In the last hour applications asked for it {formatCount(asked, 'time', 'times')} there, {share} % of them got it.
    </p>
  );
}

interface EffectProps {
  readonly project: string;
  readonly environment: FeatureEnvironment;
  readonly enabled: boolean;
}

/** Who gets a flag that is turned on without an enabled strategy: it gets the default strategy of its project. */
function DefaultEffect({ project, environment }: { readonly project: string; readonly environment: string }) {
  const segmentNames = useSegmentNames();
  const { data } = useQuery({
    ...operationQuery(ListEnvironmentsOfProject, { params: { projectId: project } }),
    staleTime: 0,
  });
  if (data === undefined) return 'it gets the default strategy of the project.';
  const strategy = data.environments.find(({ name }) => name === environment)?.defaultStrategy;
  if (strategy == null) return 'it gets one for everybody: all users get it at once.';
  return `it gets the default strategy of the project: ${strategySentence(strategy as FeatureStrategy, segmentNames)}.`;
}

function Effect({ project, environment, enabled }: EffectProps) {
  const segmentNames = useSegmentNames();
  const { name, strategies = [] } = environment;
  if (!enabled) return <p>Nobody gets it in {name} any more. Its strategies stay as they are.</p>;
  const active = strategies.filter(({ disabled }) => disabled !== true);
  if (active.length === 0)
    return (
      <p>
        {strategies.length === 0 ? 'It has no strategy' : 'All of its strategies are disabled'} in {name}:{' '}
        <DefaultEffect project={project} environment={name} />
      </p>
    );
  return (
    <>
      <p>These get it in {name}:</p>
      <ul>
        {active.map((strategy) => (
          <li key={strategy.id}>{strategySentence(strategy, segmentNames)}.</li>
        ))}
      </ul>
    </>
  );
}

interface ProductionQuestionProps {
  readonly asked: AskedSwitch;
  /** @param isProposal whether the person was told that it becomes part of a change request */
  readonly onConfirm: (isProposal: boolean) => void;
  readonly onClose: () => void;
}

/** Asks before a switch of production is turned from a list, and says what that will do. */
export function ProductionQuestion({ asked, onConfirm, onClose }: ProductionQuestionProps) {
  const { flag, environment: name, enabled } = asked;
  const params = { projectId: flag.project, featureName: flag.name };
  const query = useQuery({ ...operationQuery(GetFeature, { params }), staleTime: 0 });
  const protection = useQuery({ ...changeRequestConfigQuery(flag.project), staleTime: 0 });
  const isProtected = protectedEnvironmentsOf(protection.data ?? []).includes(name);
  const environment = query.data?.environments?.find((one) => one.name === name);
  const act = enabled ? 'Turn on' : 'Turn off';
  return (
    <ConfirmDialog
      title={`${act} in ${name}?`}
      confirm={isProtected ? 'Propose' : `${act} in ${name}`}
      isDangerous={!enabled}
      isDisabled={query.isPending || protection.data === undefined}
      onClose={onClose}
      onConfirm={() => onConfirm(isProtected)}
    >
      <div className={layout['stack']}>
        <p>
          <strong>
            <bdi>{flag.name}</bdi>
          </strong>{' '}
          of the project <ProjectName id={flag.project} />
        </p>
        <ErrorNotice error={query.error} retry={() => void query.refetch()} />
        {protection.error !== null && protection.data === undefined && (
          <ErrorNotice error={protection.error} retry={() => void protection.refetch()} />
        )}
        {query.isPending && <Loading />}
        {environment !== undefined && (
          <>
            <Effect project={flag.project} environment={environment} enabled={enabled} />
            <UsageSentence yes={environment.yes} no={environment.no} />
          </>
        )}
        {isProtected && <Notice>{name} is protected: this becomes part of a change request.</Notice>}
      </div>
    </ConfirmDialog>
  );
}
