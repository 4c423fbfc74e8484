{{- define "bunting.labels" -}}
app.kubernetes.io/name: bunting
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}
{{- define "bunting.selector" -}}
app.kubernetes.io/name: bunting
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}
{{- define "bunting.fullname" -}}
{{ printf "%s-%s" .root.Release.Name .name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "bunting.image" -}}
{{- $digest := get (.root.Values.image.digests | default dict) .name -}}
{{- $tag := get (.root.Values.image.tags | default dict) .name | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- if $digest }}{{ .root.Values.image.registry }}/{{ .name }}@{{ $digest }}
{{- else }}{{ .root.Values.image.registry }}/{{ .name }}:{{ $tag }}{{ end }}
{{- end }}
{{- /* the settings of a service: those of the chart, then those of all services, then its own */ -}}
{{- define "bunting.env" -}}
{{- $prefix := .name | upper | replace "-" "_" -}}
{{- $env := dict "BUS_URL" .root.Values.nats.url "BUS_USER" .name (printf "%s_OPS_PORT" $prefix) "9090" "DRAIN_DELAY_MS" (mul .root.Values.drainDelay 1000 | toString) -}}
{{- if and (eq .name "search") .root.Values.meilisearch.url }}{{ $_ := set $env "MEILI_URL" .root.Values.meilisearch.url }}{{ end -}}
{{- range $key := .service.secretKeys }}{{ $_ := set $env (printf "%s_FILE" $key) (printf "/run/secrets/bunting/%s" $key) }}{{ end -}}
{{- range $key, $value := mergeOverwrite $env (deepCopy (.root.Values.env | default dict)) (deepCopy (.service.env | default dict)) }}
- name: {{ $key }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- define "bunting.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
{{- define "bunting.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}
{{- define "bunting.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .service.secret }}
    defaultMode: 0440
    items:
      {{- range .service.secretKeys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- end }}
