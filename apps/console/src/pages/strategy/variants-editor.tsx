import type { StrategyVariant } from '@bunting/contracts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { withEqualWeights, withWeight } from './strategy-inputs.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

const texts = {
  payloads: { none: 'none', string: 'text', json: 'JSON', csv: 'CSV', number: 'number' },
} as const;

interface VariantsEditorProps {
  readonly variants: readonly StrategyVariant[];
  /** the context field by whose value a user is assigned a variant */
  readonly stickiness: string;
  readonly onChange: (variants: readonly StrategyVariant[]) => void;
}

const payloadTypes = ['none', 'string', 'json', 'csv', 'number'] as const;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The variants among which the users of a strategy are divided. */
export function VariantsEditor({ variants, stickiness, onChange }: VariantsEditorProps) {
  const change = (index: number, changed: Partial<StrategyVariant>): void =>
    onChange(variants.with(index, { ...(variants[index] as StrategyVariant), ...changed }));
  const setPayload = (index: number, type: string, value: string): void => {
    const { payload: _, ...variant } = variants[index] as StrategyVariant;
    onChange(
      variants.with(index, type === 'none' ? variant : { ...variant, payload: { type: type as 'string', value } }),
    );
  };
  return (
    <section className={layout['card']} aria-labelledby="variants">
      <div className={layout['bar']}>
        <h2 id="variants">Variants</h2>
        <Button
          size="small"
          icon="add"
          onPress={() =>
            onChange(
              withEqualWeights([
                ...variants,
                { name: `variant-${variants.length + 1}`, weight: 0, weightType: 'variable', stickiness },
              ]),
            )
          }
        >
          Add a variant
        </Button>
      </div>
      {variants.length === 0 && <p className={layout['small']}>No variants: users get on or off.</p>}
      <ul className={styles['form']}>
        {variants.map(({ name, weight, payload }, index) => (
          <li key={index} className={styles['item']}>
            <div className={styles['row']}>
              <TextField label="Variant" value={name} onChange={(text) => change(index, { name: text })} isRequired />
              <TextField
                label="Percent"
                type="number"
                value={String(weight / 10)}
                onChange={(text) => onChange(withWeight(variants, index, Math.round(Number(text) * 10)))}
              />
              <IconButton
                icon="remove"
                label={`Remove the variant ${name}`}
                onPress={() => onChange(withEqualWeights(variants.toSpliced(index, 1)))}
              />
            </div>
            <div className={styles['row']}>
              <Select
                label="Payload type"
                options={payloadTypes.map((type) => ({ id: type, label: texts.payloads[type] }))}
                value={payload?.type ?? 'none'}
                onChange={(type) => setPayload(index, type, payload?.value ?? '')}
              />
              {payload !== undefined && (
                <TextField
                  label="Payload"
                  value={payload.value}
                  error={payload.type === 'json' && !isJson(payload.value) ? 'This is not valid JSON.' : undefined}
                  rows={payload.type === 'json' ? 3 : 1}
                  onChange={(text) => setPayload(index, payload.type, text)}
                />
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
