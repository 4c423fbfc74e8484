import type { RawFeatureMetrics } from '@bunting/contracts';
import { useEffect, useMemo, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { flagMessages } from '../../messages/flag.ts';
import { hourlyUsage } from './hourly-usage.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas needs colours as they are computed: `light-dark()` is resolved by a property of an element. */
const resolveColour = (name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color === '' ? colour(name) : color;
};

interface UsageChartProps {
  readonly metrics: RawFeatureMetrics;
  readonly environment: string;
}

/** Evaluations of a feature to yes and to no, hour by hour. */
export const UsageChart = ({ metrics, environment }: UsageChartProps) => {
  const holder = useRef<HTMLDivElement>(null);
  const [now] = useState(() => Date.now());
  const { hours, yes, no } = useMemo(() => hourlyUsage(metrics.data, environment, now), [metrics, environment, now]);
  const total = { yes: yes.reduce((sum, one) => sum + one, 0), no: no.reduce((sum, one) => sum + one, 0) };
  useEffect(() => {
    const element = holder.current;
    if (element === null) return undefined;
    const axis = { stroke: resolveColour('--text-muted'), grid: { stroke: resolveColour('--border'), width: 1 } };
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: 160,
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
        axes: [axis, { ...axis, size: 60 }],
        scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max)] } },
        series: [
          {},
          { label: flagMessages.yes, stroke: resolveColour('--good'), width: 2 },
          { label: flagMessages.no, stroke: resolveColour('--danger'), width: 2, dash: [4, 4] },
        ],
      },
      [hours, yes, no],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: 160 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [hours, yes, no]);
  return (
    <figure>
      <figcaption className={layout['small']}>{flagMessages.usageSum(environment, total.yes, total.no)}</figcaption>
      <div ref={holder} className={styles['chart']} aria-hidden="true" />
    </figure>
  );
};
