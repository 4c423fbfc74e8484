import { ListContextFields, ListStrategyTypes } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Label, Slider, SliderThumb, SliderTrack } from 'react-aria-components';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { rolloutTypes, shareAnchor, strategyTypeNames } from '../../strategies/strategy-type-names.ts';
import type { StrategyPartProps } from './use-strategy-edit.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

interface PercentageProps {
  readonly value: number;
  readonly onChange: (value: number) => void;
}

/** The parameters of the built-in types, in words. Those of other types have the names that their SDKs know. */
const parameterTexts: Readonly<Record<string, { readonly label: string; readonly hint: string }>> = {
  userIds: { label: 'Ids of users', hint: 'With commas between them' },
  IPs: { label: 'Addresses', hint: 'IP addresses, or networks such as 10.0.0.0/8, with commas between them' },
  hostNames: { label: 'Hosts', hint: 'Names of hosts, with commas between them' },
};

const usualShares = [0, 1, 5, 10, 25, 50, 100] as const;

function PercentageField({ value, onChange }: PercentageProps) {
  return (
    <div className={styles['percentage']}>
      <div className={styles['shares']} role="group" aria-label="Usual shares">
        {usualShares.map((share) => (
          <Button key={share} size="small" aria-pressed={value === share} onPress={() => onChange(share)}>
            {`${share} %`}
          </Button>
        ))}
      </div>
      <Slider minValue={0} maxValue={100} value={value} onChange={onChange}>
        <Label>Share of users</Label>
        <SliderTrack className={styles['track'] ?? ''}>
          <SliderThumb className={styles['thumb'] ?? ''} />
        </SliderTrack>
      </Slider>
      <TextField
        label="Percent"
        type="number"
        value={String(value)}
        onChange={(text) => onChange(Math.min(100, Math.max(0, Math.round(Number(text)) || 0)))}
      />
    </div>
  );
}

/** The type of a strategy and its parameters. */
export function StrategyTypeFields({ draft, onChange }: StrategyPartProps) {
  const { name, parameters } = draft;
  const section = useRef<HTMLElement>(null);
  // Who was led to the share types it at once, in place of what it was.
  const isLedToShare = useLocation({ select: ({ hash }) => hash === shareAnchor });
  useEffect(() => {
    if (!isLedToShare) return;
    const share = section.current?.querySelector<HTMLInputElement>('input[type=number]');
    share?.focus();
    share?.select();
  }, [isLedToShare]);
  const types = useQuery({ ...operationQuery(ListStrategyTypes, {}), staleTime: 60_000 });
  const fields = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const setParameter = (parameter: string, value: string): void =>
    onChange({ ...draft, parameters: { ...parameters, [parameter]: value } });
  const percentageParameter = rolloutTypes.get(name);
  const type = types.data?.strategies.find((candidate) => candidate.name === name);
  const stickinessFields = [
    'default',
    'userId',
    'sessionId',
    'random',
    ...(fields.data ?? []).filter(({ stickiness }) => stickiness === true).map((field) => field.name),
  ];
  const shownTypes = (types.data?.strategies ?? [])
    .filter((candidate) => !candidate.deprecated || candidate.name === name)
    .map(({ name: id, displayName }) => ({ id, label: strategyTypeNames[id] ?? displayName ?? id }));
  const otherParameters = (type?.parameters ?? [])
    .map((parameter) => parameter as { name: string; description?: string; type?: string; required?: boolean })
    .filter(
      (parameter) =>
        parameter.name !== percentageParameter &&
        !(name === 'flexibleRollout' && ['stickiness', 'groupId'].includes(parameter.name)),
    );
  return (
    <section ref={section} className={layout['card']} aria-labelledby="audience">
      <h2 id="audience">Who gets it</h2>
      <Select
        label="Strategy"
        hint={type?.description ?? undefined}
        options={shownTypes.some(({ id }) => id === name) ? shownTypes : [{ id: name, label: name }, ...shownTypes]}
        value={name}
        onChange={(next) => onChange({ ...draft, name: next })}
      />
      {percentageParameter !== undefined && (
        <PercentageField
          value={Number(parameters[percentageParameter] ?? 100)}
          onChange={(value) => setParameter(percentageParameter, String(value))}
        />
      )}
      {name === 'flexibleRollout' && (
        <div className={styles['row']}>
          <Select
            label="Sticky by"
            hint="The same value of this field always gets the same result."
            options={[...new Set([...stickinessFields, parameters['stickiness'] ?? 'default'])].map((id) => ({
              id,
              label: id,
            }))}
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
            label="Group"
            hint="Strategies with the same group choose the same users."
            value={parameters['groupId'] ?? ''}
            onChange={(value) => setParameter('groupId', value)}
          />
        </div>
      )}
      {otherParameters.map((parameter) => (
        <TextField
          key={parameter.name}
          label={parameter.name}
          hint={parameter.description}
          {...(name in strategyTypeNames && parameterTexts[parameter.name])}
          {...(parameter.type === 'list' ? { rows: 3 } : {})}
          isRequired={parameter.required === true}
          value={parameters[parameter.name] ?? ''}
          onChange={(value) => setParameter(parameter.name, value)}
        />
      ))}
    </section>
  );
}
