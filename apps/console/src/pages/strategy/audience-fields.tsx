import { ListContextFields, ListSegments, ListStrategyTypes } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Label, Slider, SliderThumb, SliderTrack } from 'react-aria-components';
import { operationQuery } from '../../api/queries.ts';
import { Checkbox, ComboBox, Select, TextField } from '../../components/forms/fields.tsx';
import { strategyMessages } from '../../messages/strategy.ts';
import type { StrategyDraft } from '../../strategies/strategy-draft.ts';
import layout from '../../components/layout.module.css';
import styles from './strategy.module.css';

/** A part of the editor of a strategy. */
export interface StrategyPartProps {
  readonly draft: StrategyDraft;
  readonly onChange: (draft: StrategyDraft) => void;
}

const rolloutTypes = new Map([
  ['flexibleRollout', 'rollout'],
  ['gradualRolloutRandom', 'percentage'],
  ['gradualRolloutSessionId', 'percentage'],
  ['gradualRolloutUserId', 'percentage'],
]);

interface PercentageProps {
  readonly value: number;
  readonly onChange: (value: number) => void;
}

const PercentageField = ({ value, onChange }: PercentageProps) => (
  <div className={styles['percentage']}>
    <Slider minValue={0} maxValue={100} value={value} onChange={onChange}>
      <Label>{strategyMessages.rollout}</Label>
      <SliderTrack className={styles['track'] ?? ''}>
        <SliderThumb className={styles['thumb'] ?? ''} />
      </SliderTrack>
    </Slider>
    <TextField
      label={strategyMessages.rolloutPercent}
      type="number"
      value={String(value)}
      onChange={(text) => onChange(Math.min(100, Math.max(0, Math.round(Number(text)) || 0)))}
    />
  </div>
);

/** Who gets the flag: the type of the strategy and its parameters. */
export const AudienceFields = ({ draft, onChange }: StrategyPartProps) => {
  const { name, parameters } = draft;
  const types = useQuery({ ...operationQuery(ListStrategyTypes, {}), staleTime: 60_000 });
  const fields = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const set = (parameter: string, value: string): void =>
    onChange({ ...draft, parameters: { ...parameters, [parameter]: value } });
  const percentage = rolloutTypes.get(name);
  const type = types.data?.strategies.find((one) => one.name === name);
  const sticky = [
    'default',
    'userId',
    'sessionId',
    'random',
    ...(fields.data ?? []).filter(({ stickiness }) => stickiness === true).map((field) => field.name),
  ];
  const shownTypes = (types.data?.strategies ?? [])
    .filter((one) => !one.deprecated || one.name === name)
    .map((one) => ({ id: one.name, label: strategyMessages.types[one.name] ?? one.displayName ?? one.name }));
  const otherParameters = (type?.parameters ?? [])
    .map((parameter) => parameter as { name: string; description?: string; type?: string; required?: boolean })
    .filter(
      (parameter) =>
        parameter.name !== percentage &&
        !(name === 'flexibleRollout' && ['stickiness', 'groupId'].includes(parameter.name)),
    );
  return (
    <section className={layout['card']} aria-labelledby="audience">
      <h2 id="audience">{strategyMessages.audience}</h2>
      <Select
        label={strategyMessages.type}
        hint={type?.description ?? undefined}
        options={shownTypes.some(({ id }) => id === name) ? shownTypes : [{ id: name, label: name }, ...shownTypes]}
        value={name}
        onChange={(next) => onChange({ ...draft, name: next })}
      />
      {percentage !== undefined && (
        <PercentageField
          value={Number(parameters[percentage] ?? 100)}
          onChange={(value) => set(percentage, String(value))}
        />
      )}
      {name === 'flexibleRollout' && (
        <div className={styles['row']}>
          <Select
            label={strategyMessages.stickiness}
            hint={strategyMessages.stickinessHint}
            options={[...new Set([...sticky, parameters['stickiness'] ?? 'default'])].map((id) => ({ id, label: id }))}
            value={parameters['stickiness'] ?? 'default'}
            onChange={(value) =>
              onChange({
                ...draft,
                parameters: { ...parameters, stickiness: value },
                variants: draft.variants.map((variant) => ({ ...variant, stickiness: value })),
              })
            }
          />
          <TextField
            label={strategyMessages.groupId}
            hint={strategyMessages.groupIdHint}
            value={parameters['groupId'] ?? ''}
            onChange={(value) => set('groupId', value)}
          />
        </div>
      )}
      {otherParameters.map((parameter) => (
        <TextField
          key={parameter.name}
          label={parameter.name}
          hint={parameter.description}
          {...(parameter.type === 'list' ? { rows: 3 } : {})}
          isRequired={parameter.required === true}
          value={parameters[parameter.name] ?? ''}
          onChange={(value) => set(parameter.name, value)}
        />
      ))}
    </section>
  );
};

/** The segments of a strategy, all of which must match. */
export const SegmentFields = ({ draft, onChange }: StrategyPartProps) => {
  const { data } = useQuery({ ...operationQuery(ListSegments, {}), staleTime: 60_000 });
  const segments = data?.segments ?? [];
  const chosen = draft.segments;
  const nameOf = (id: number): string => segments.find((segment) => segment.id === id)?.name ?? `${id}`;
  return (
    <section className={layout['card']} aria-labelledby="segments">
      <h2 id="segments">{strategyMessages.segments}</h2>
      {segments.length > chosen.length && (
        <ComboBox
          key={chosen.join()}
          label={strategyMessages.addSegment}
          options={segments
            .filter(({ id }) => !chosen.includes(id))
            .map(({ id, name, description }) => ({ id: String(id), label: name, about: description ?? undefined }))}
          value={null}
          onChange={(id) => onChange({ ...draft, segments: [...chosen, Number(id)] })}
        />
      )}
      {segments.length === 0 && <p className={layout['small']}>{strategyMessages.noSegments}</p>}
      <div className={styles['options']}>
        {chosen.map((id) => (
          <Checkbox
            key={id}
            isSelected
            onChange={() => onChange({ ...draft, segments: chosen.filter((one) => one !== id) })}
          >
            {nameOf(id)}
          </Checkbox>
        ))}
      </div>
    </section>
  );
};
